#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| inia_fuzz::values::run(data));
