//! Lets the module find Node's symbols where it is loaded.

fn main() {
    napi_build::setup();
}
