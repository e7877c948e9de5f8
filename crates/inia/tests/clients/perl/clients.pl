# DBD::mysql and DBD::MariaDB against a server: perl clients.pl HOST PORT. Prints "ok NAME" or "failed NAME" for each check.
use strict;
use warnings;
use DBI;

my ($host, $port) = @ARGV;

sub check {
    my ($name, $work) = @_;
    my $good = eval { $work->() };
    print $good ? "ok $name\n" : "failed $name\n";
    print STDERR "$name: $@\n" unless $good;
}

for my $driver ('mysql', 'MariaDB') {
    my $prefix = lc $driver;
    my $address = "DBI:$driver:database=mysql;host=$host;port=$port;${prefix}_server_prepare=1";
    my $db = DBI->connect($address, 'root', '', { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
    $db->do($_) for 'DROP DATABASE IF EXISTS perl_clients', 'CREATE DATABASE perl_clients', 'USE perl_clients';
    check "$driver: a table" => sub {
        $db->do('CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) NOT NULL, d DECIMAL(10,2), '
                . 'b BLOB, at DATETIME(3), UNIQUE KEY (name))');
    };
    check "$driver: parameters" => sub {
        my $insert = $db->prepare('INSERT INTO t (name, d, b, at) VALUES (?, ?, ?, ?)');
        $insert->execute('tea', '1.50', "a\0b", '2024-02-29 12:00:00.125');
        $insert->execute('rice', undef, undef, undef);
        $insert->rows == 1;
    };
    check "$driver: last insert id" => sub { $db->last_insert_id(undef, undef, 't', 'id') >= 1 };
    check "$driver: rows" => sub {
        my $rows = $db->selectall_arrayref('SELECT id, name, d, b, at FROM t ORDER BY id', { Slice => {} });
        my ($tea, $rice) = @$rows;
        @$rows == 2 && $tea->{d} eq '1.50' && $tea->{b} eq "a\0b" && $tea->{at} eq '2024-02-29 12:00:00.125'
            && !defined $rice->{d};
    };
    check "$driver: columns of a result" => sub {
        my $query = $db->prepare('SELECT * FROM t');
        $query->execute;
        my ($names, $nullable) = ("@{$query->{NAME}}", $query->{NULLABLE});
        $query->finish;
        $names eq 'id name d b at' && !$nullable->[1] && $nullable->[2];
    };
    check "$driver: errors" => sub {
        eval { $db->do("INSERT INTO t (name) VALUES ('rice')") };
        $db->err == 1062 && $db->state eq '23000';
    };
    check "$driver: rollback" => sub {
        $db->begin_work;
        $db->do('DELETE FROM t');
        $db->rollback;
        ($db->selectrow_array('SELECT COUNT(*) FROM t'))[0] == 2;
    };
    check "$driver: commit" => sub {
        $db->begin_work;
        $db->do("UPDATE t SET d = 9 WHERE name = 'rice'");
        $db->commit;
        ($db->selectrow_array('SELECT d FROM t WHERE name = ?', undef, 'rice'))[0] eq '9.00';
    };
    check "$driver: information about columns" => sub {
        my $columns = $db->column_info(undef, 'perl_clients', 't', '%')->fetchall_arrayref({});
        @$columns == 5 && $columns->[1]{COLUMN_SIZE} == 20 && $columns->[0]{"${prefix}_is_auto_increment"};
    };
    check "$driver: information about tables and keys" => sub {
        my @tables = $db->tables(undef, 'perl_clients', '%', 'TABLE');
        my $keys = $db->primary_key_info(undef, 'perl_clients', 't')->fetchall_arrayref({});
        @tables == 1 && @$keys == 1;
    };
    check "$driver: several results" => sub {
        $db->do("CREATE PROCEDURE p(IN n INT) BEGIN SELECT n + 1 AS a; SELECT 'x' AS b; END");
        my $call = $db->prepare('CALL p(4)', { "${prefix}_server_prepare" => 0 });
        $call->execute;
        my @first = $call->fetchrow_array;
        $call->more_results;
        my @second = $call->fetchrow_array;
        $first[0] == 5 && $second[0] eq 'x';
    };
    check "$driver: many rows" => sub {
        my $rows = $db->selectcol_arrayref(
            'WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n');
        @$rows == 1000 && $rows->[999] == 1000;
    };
    check "$driver: ping" => sub { $db->ping };
    $db->do('DROP DATABASE perl_clients');
}
