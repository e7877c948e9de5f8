//! Inia: a MySQL-compatible database in one binary.
