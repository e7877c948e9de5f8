-- ENCRYPTION of tables and databases: without a keyring nothing can be encrypted, and nothing pretends to be.
create table t (a int) encryption = 'y';
create table t (a int) encryption = 'x';
create table t (a int) encryption = 'N';
show create table t;
alter table t encryption = 'Y';
alter table t encryption = 'n';
alter table t encryption = '';
create database encrypted encryption = 'Q';
create database encrypted encryption = 'N';
alter database encrypted encryption = 'maybe';
alter database encrypted encryption = 'n';
show create database encrypted;
drop database encrypted;
drop table t;
