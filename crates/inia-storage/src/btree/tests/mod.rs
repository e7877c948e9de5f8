//! The tree's tests, by layer.
