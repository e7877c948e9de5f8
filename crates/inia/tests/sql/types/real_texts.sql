-- FLOAT and DOUBLE as strings: a column has more room than a computed value.
create table f (f float, d double);
insert into f values (1.234567e-3,1.4999999621068127e-5),(1.234567e-4,1.4999999621068127e-6),(1.234567e-5,1.4999999621068127e-7),(1.234567e-6,1.4999999621068127e-8),(1.23456e-2,1.4999999621068127e-9),(-1.234567e-3,-1.4999999621068127e-5),(-1.234567e-4,-1.4999999621068127e-6),(-1.234567e-5,-1.4999999621068127e-7),(-1.234567e-6,-1.4999999621068127e-8),(1.23456e-2,-1.4999999621068127e-9),(1e11,-2.2250738585072014e-308),(1e12,2.2250738585072014e-308),(123456e7,1),(123456e6,1),(-1e10,1),(-1e11,1),(-1.234567e-38,1),(3.40282e38,1);
select concat(f), length(f), concat(d), length(d) from f;
select concat(d+0), length(d+0), d+0, concat(-d), concat(abs(d)), concat(round(d, 30)), concat(max(d) over ()) from f;
select concat(x), concat(y) from (select f+0 x, d+0 y from f) t;
select concat(x), concat(y) from (select f+0 x, d+0 y from f limit 100) t;
select concat(x), concat(y) from (select f x, d y from f limit 100) t;
select concat(min(d)), concat(max(f)), concat(sum(d)), concat(avg(f)) from f;
select concat(1.4999999621068127e-6), concat(-1.2345678901234567e-4), concat(123456789e-20), concat(pi()*1e-6), concat(rand(1)), concat(0.1e0+0.2e0);
set @a = 1.4999999621068127e-6;
select concat(@a), @a, concat(@a+0);
select json_array(d, d+0, f), json_object('a', 1.4999999621068127e-6) from f;
