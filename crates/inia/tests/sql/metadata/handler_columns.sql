-- HANDLER describes columns by the name that the table was opened by.

create table t(id int primary key, v varchar(10), key(v));
insert into t values (1, 'a');
handler t open;
handler t read first;
handler t open as h;
handler h read v first;
handler h close;
handler t close;
