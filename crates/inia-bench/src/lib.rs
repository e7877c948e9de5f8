//! Inia's benchmark lab.
