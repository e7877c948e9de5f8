//! How text falls into tokens.
