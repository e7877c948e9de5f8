//! MySQL's client/server protocol as pure bytes.
