-- HELP where no topic has the name.

HELP 'no such topic';
HELP nosuchtopic;
HELP '';
HELP 5;
SELECT FOUND_ROWS();
