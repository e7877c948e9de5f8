-- LOAD_FILE where files may not be read.
select load_file('/etc/passwd'), load_file(''), load_file(null), load_file('nowhere'), load_file(5);
select load_file();
select load_file('a', 'b');
create table t as select load_file('/etc/passwd') a;
show create table t;
create user 'load_file_user'@'localhost';
-- as: load_file_user
select load_file('/etc/passwd');
-- as: root
drop user 'load_file_user'@'localhost';
