-- A parameter that is an argument of a function of strings takes each value as it comes.

set @i = 1, @c = 'abc', @f = 1.5e0;
prepare s from "select concat(?)";
execute s using @i;
execute s using @c;
execute s using @f;
execute s using @c;
prepare s from 'select upper(?), length(?), md5(?)';
execute s using @i, @i, @i;
execute s using @c, @c, @c;
prepare s from "select replace(?, 'b', 'x'), coalesce(?, 'x'), group_concat(?)";
execute s using @i, @i, @i;
execute s using @c, @c, @c;
prepare s from "select 'abc' like ?";
execute s using @i;
execute s using @c;
