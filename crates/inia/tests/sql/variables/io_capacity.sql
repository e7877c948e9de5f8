-- DEFAULT of innodb_io_capacity_max is the greatest value, not what a server that starts computes.
set global innodb_io_capacity_max = default;
select @@global.innodb_io_capacity_max, @@global.innodb_io_capacity;
set global innodb_io_capacity = 5000;
select @@global.innodb_io_capacity_max, @@global.innodb_io_capacity;
set global innodb_io_capacity = default;
set global innodb_io_capacity_max = 100;
select @@global.innodb_io_capacity_max, @@global.innodb_io_capacity;
set global innodb_io_capacity_max = 2000;
set global innodb_io_capacity = 200;
