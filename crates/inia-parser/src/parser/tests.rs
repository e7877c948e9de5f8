//! Statements and the trees they give.
