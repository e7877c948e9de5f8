//! Expressions checked against answers of MySQL 8.0.31.
