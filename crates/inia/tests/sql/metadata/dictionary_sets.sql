-- Set operations over views take the types of the dictionary's numbers.
select ordinal_position, numeric_precision, datetime_precision from information_schema.columns where table_schema = 'none' union all select ordinal_position, numeric_scale, srs_id from information_schema.columns where table_schema = 'none';
select numeric_precision, numeric_scale from information_schema.columns where table_schema = 'none' union select numeric_precision, numeric_scale from information_schema.columns where table_schema = 'none';
select numeric_precision from information_schema.columns where table_schema = 'none' union select 1;
