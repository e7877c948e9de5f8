-- Functions whose results are in the character set of names, whatever the connection's.
select charset(uuid()), collation(uuid()), coercibility(uuid()), length(uuid());
select charset(format_bytes(1)), charset(format_pico_time(1)), charset(bin_to_uuid(uuid_to_bin(uuid())));
create table a as select uuid() a, upper(uuid()) b, format_pico_time(1) c, left(uuid(), 3) d, bin_to_uuid(uuid_to_bin(uuid())) e, format_bytes(1) f, concat(uuid(), uuid()) g;
show create table a;
select charset(concat(uuid(), 'é')), concat(uuid(), 'é') like '%é', uuid() <> 'é', charset(concat(uuid(), _latin1'a'));
create table l (c varchar(36) charset latin1);
insert into l values (uuid());
select length(c), charset(concat(c, uuid())), c = uuid() from l;
create table d (a char(36) default (uuid()), b int);
insert into d (b) values (1);
select length(a), charset(a) from d;
