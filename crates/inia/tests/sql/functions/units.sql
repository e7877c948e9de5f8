-- FORMAT_BYTES, FORMAT_PICO_TIME, and functions that say little.
select format_bytes(512), format_bytes(1024), format_bytes(18446644073709551615), format_bytes(null), format_bytes(1048576), format_bytes(-1), format_bytes(1500), format_bytes('abc'), format_bytes(1e30), format_bytes(1023.9);
select format_bytes(0), format_bytes(-1500), format_bytes(1e15), format_bytes(1e18), format_bytes(1e22), format_bytes(99999*1152921504606846976.0), format_bytes('12'), format_bytes(-0.5);
select format_pico_time(3501), format_pico_time(188732396662000), format_pico_time(null), format_pico_time(0), format_pico_time(999), format_pico_time(1e3), format_pico_time(1e6), format_pico_time(1e9),format_pico_time(1e12),format_pico_time(6e13),format_pico_time(3.6e15),format_pico_time(8.64e16),format_pico_time(-3501), format_pico_time(1e30);
select validate_password_strength('a'), validate_password_strength(null), validate_password_strength('abcdefgH1!'), validate_password_strength('');
select json_storage_free('{"a":1}'), json_storage_free(null);
