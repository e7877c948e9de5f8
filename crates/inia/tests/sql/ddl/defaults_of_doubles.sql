-- Defaults of DOUBLE and FLOAT are shown as their values are printed.
create table dd (d1 double default 1e15, d2 double default 1.5e20, d3 float default 1e30, d4 double default 1e-7, d5 double default 123456789012345678, d6 double default '1e16', d7 float default 0.1);
show create table dd;
select column_name, column_default from information_schema.columns where table_schema=database() and table_name='dd';
INSERT INTO dd VALUES ();
SELECT * FROM dd;
ALTER TABLE dd ALTER d1 SET DEFAULT -1e-20, ALTER d2 SET DEFAULT 99999999999999;
SHOW CREATE TABLE dd;
