//! Space: which pages of the data file are in use.
