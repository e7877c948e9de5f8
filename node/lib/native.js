'use strict';

// The Rust part; `npm run build` makes it.

module.exports = require('../inia.node');
