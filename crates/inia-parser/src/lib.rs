//! Inia's lexer and parser for the MySQL dialect.
