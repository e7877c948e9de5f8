//! The server from outside: a real server on a free port, with sessions that give canned answers.
#![allow(clippy::unwrap_used)]
mod abuse;
mod binary;
mod charsets;
mod commands;
mod damage;
mod differential;
mod dumps;
mod full_disk;
mod hostile;
mod isolation;
mod kill;
mod lab;
mod lies;
mod lifecycle;
mod limits;
mod local_files;
mod login;
mod mutated;
mod process;
mod refusals;
mod rights;
mod scripts;
mod support;
mod sysbench;
mod wire;
mod workloads;
