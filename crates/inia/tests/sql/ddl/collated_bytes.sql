-- COLLATE of a column of bytes must be one of bytes.

create table b(a varbinary(10) collate utf8mb4_bin);
create table b(a binary(3) collate latin1_bin);
create table b(a blob collate utf8mb4_bin);
create table b(a longblob collate utf8mb4_0900_ai_ci);
create table b(a json collate utf8mb4_bin);
create table b(a varbinary(10) primary key collate utf8mb4_0900_bin);
create table b(a varbinary(10) collate binary, d date collate utf8mb4_bin, i int collate utf8mb4_bin);
alter table b add x varbinary(3) collate utf8mb4_bin;
alter table b modify a varbinary(11) collate utf8mb4_bin;
show create table b;
