//! The server from outside: a real server on a free port, with sessions that give canned answers.
#![allow(clippy::unwrap_used)]
mod commands;
mod hostile;
mod lifecycle;
mod login;
mod support;
