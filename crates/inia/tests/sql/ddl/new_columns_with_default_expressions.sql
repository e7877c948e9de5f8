-- New columns whose defaults read other columns, of rows that are there already.
create table t2(pk bigint primary key, v1 bigint);
insert into t2 values(1,5),(2,null);
alter table t2 add column v2 bigint default (v1-1) after pk;
alter table t2 add column v0 bigint default (v1+pk) first;
alter table t2 add column v3 bigint as (v2+v0) stored first;
alter table t2 add column v4 bigint default (v1) after pk, add column v5 bigint default (v4+1) after pk;
alter table t2 add column v4 bigint default (v1) after pk, add column v5 bigint default (v4+1);
alter table t2 add column v6 bigint default (v1*100) first, drop column v1;
alter table t2 add column v6 bigint default (v3*100) first;
alter table t2 add column v7 bigint default (v9) first, add column v9 int default 3;
alter table t2 add column v8 bigint not null default (v2) first;
alter table t2 add column v8 bigint default (v1) first, modify v1 varchar(20);
alter table t2 add column va bigint default (v1) first, modify v1 varchar(20) after pk, add column vb varchar(20) default (concat(v1,'x')) after va, add column vc datetime default (now()) first, add unique key(vb);
select pk,v1,v2,v0,v3,v4,v5,va,vb from t2;
show create table t2;
alter table t2 add column id int auto_increment first, add column z int default (id+1), add key(id);
alter table t2 add column z tinyint default (v0*100) first;
