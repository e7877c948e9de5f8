<?php
// Doctrine's DBAL and Laravel's Eloquent, as Debian packages them, against a server: php frameworks.php HOST PORT. Prints
// "ok NAME" or "failed NAME" for each check.
error_reporting(E_ALL & ~E_DEPRECATED);
require '/usr/share/php/Doctrine/DBAL/autoload.php';
require '/usr/share/php/Illuminate/Database/autoload.php';

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\ForeignKeyConstraintViolationException;
use Doctrine\DBAL\Exception\UniqueConstraintViolationException;
use Doctrine\DBAL\Schema\Schema;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Eloquent\Model;

[, $host, $port] = $argv;

function check(string $name, callable $work): void
{
    try {
        echo ($work() ? 'ok' : 'failed'), " $name\n";
    } catch (Throwable $error) {
        echo "failed $name\n";
        fwrite(STDERR, "$name: $error\n");
    }
}

function refused(string $exception, callable $work): bool
{
    try {
        $work();
    } catch (Throwable $error) {
        return $error instanceof $exception;
    }
    return false;
}

$server = ['driver' => 'pdo_mysql', 'host' => $host, 'port' => $port, 'user' => 'root', 'password' => '', 'charset' => 'utf8mb4'];
$any = DriverManager::getConnection($server);
$any->executeStatement('DROP DATABASE IF EXISTS php_frameworks');
$any->executeStatement('CREATE DATABASE php_frameworks');
$db = DriverManager::getConnection($server + ['dbname' => 'php_frameworks']);
$tables = $db->createSchemaManager();

$schema = new Schema();
$author = $schema->createTable('author');
$author->addColumn('id', 'integer', ['autoincrement' => true]);
$author->addColumn('name', 'string', ['length' => 50, 'comment' => 'who', 'default' => 'x']);
$author->addColumn('born', 'datetime', ['notnull' => false]);
$author->addColumn('rate', 'decimal', ['precision' => 8, 'scale' => 3]);
$author->addColumn('doc', 'json', ['notnull' => false]);
$author->addColumn('body', 'text', ['notnull' => false]);
$author->addColumn('flag', 'boolean');
$author->setPrimaryKey(['id']);
$author->addUniqueIndex(['name'], 'u_name');
$book = $schema->createTable('book');
$book->addColumn('id', 'bigint', ['autoincrement' => true, 'unsigned' => true]);
$book->addColumn('author_id', 'integer');
$book->setPrimaryKey(['id']);
$book->addForeignKeyConstraint('author', ['author_id'], ['id'], ['onDelete' => 'CASCADE'], 'fk_author');

check('dbal: the platform', fn () => str_contains(get_class($db->getDatabasePlatform()), 'MySQL80'));
check('dbal: a schema is made', function () use ($db, $schema) {
    array_map(fn ($sql) => $db->executeStatement($sql), $schema->toSql($db->getDatabasePlatform()));
    return true;
});
check('dbal: what is read back is what was made', function () use ($db, $tables, $schema) {
    $changes = $tables->createComparator()->compareSchemas($tables->introspectSchema(), $schema);
    $changes = array_filter($changes->toSql($db->getDatabasePlatform()), fn ($sql) => !str_contains($sql, 'SCHEMA'));
    return $changes === [] ?: throw new Exception(implode('; ', $changes));
});
check('dbal: typed parameters', function () use ($db) {
    $row = ['name' => 'Ada', 'born' => new DateTime('1815-12-10'), 'rate' => '1.25', 'doc' => ['a' => [1, 2]], 'flag' => true];
    $db->insert('author', $row, ['born' => 'datetime', 'doc' => 'json', 'flag' => 'boolean']);
    return $db->lastInsertId() == 1;
});
check('dbal: the query builder', function () use ($db) {
    $query = $db->createQueryBuilder()->select('name', 'rate')->from('author')->where('id = :id')->setParameter('id', 1);
    return $query->executeQuery()->fetchAssociative() == ['name' => 'Ada', 'rate' => '1.250'];
});
check('dbal: lists of parameters', function () use ($db) {
    $types = [Connection::PARAM_INT_ARRAY];
    return $db->executeQuery('SELECT COUNT(*) FROM author WHERE id IN (?)', [[1, 2, 3]], $types)->fetchOne() == 1;
});
check('dbal: a duplicate', fn () => refused(
    UniqueConstraintViolationException::class,
    fn () => $db->insert('author', ['name' => 'Ada', 'rate' => 1, 'flag' => 0]),
));
check('dbal: a row without its parent', fn () => refused(
    ForeignKeyConstraintViolationException::class,
    fn () => $db->insert('book', ['author_id' => 99]),
));
check('dbal: nested transactions', function () use ($db) {
    $db->setNestTransactionsWithSavepoints(true);
    $db->beginTransaction();
    $db->insert('author', ['name' => 'B', 'rate' => 1, 'flag' => 0]);
    $db->beginTransaction();
    $db->insert('author', ['name' => 'C', 'rate' => 1, 'flag' => 0]);
    $db->rollBack();
    $db->commit();
    return $db->fetchOne('SELECT COUNT(*) FROM author') == 2;
});
check('dbal: a changed table', function () use ($tables) {
    $before = $tables->introspectTable('author');
    $after = clone $before;
    $after->addColumn('extra', 'string', ['length' => 9, 'notnull' => false]);
    $after->dropIndex('u_name');
    $after->addIndex(['rate'], 'i_rate');
    $tables->alterTable($tables->createComparator()->compareTables($before, $after));
    return isset($tables->listTableColumns('author')['extra']) && isset($tables->listTableIndexes('author')['i_rate']);
});
check('dbal: lists', fn () => count($tables->listTableNames()) == 2
    && in_array('php_frameworks', $tables->listDatabases())
    && count($tables->listTableForeignKeys('book')) == 1);

class User extends Model
{
    protected $guarded = [];
    protected $casts = ['meta' => 'array'];
    public function posts() { return $this->hasMany(Post::class); }
}
class Post extends Model
{
    protected $guarded = [];
}
$laravel = new Manager();
$laravel->addConnection(['driver' => 'mysql', 'host' => $host, 'port' => $port, 'database' => 'php_frameworks', 'username' => 'root',
    'password' => '', 'charset' => 'utf8mb4', 'collation' => 'utf8mb4_unicode_ci', 'prefix' => '', 'strict' => true]);
$laravel->setAsGlobal();
$laravel->bootEloquent();
$builder = $laravel->schema();

check('eloquent: tables', function () use ($builder) {
    $builder->create('users', function ($t) {
        $t->id();
        $t->string('name')->index();
        $t->json('meta')->nullable();
        $t->enum('kind', ['a', 'b'])->default('a');
        $t->timestamps();
        $t->softDeletes();
    });
    $builder->create('posts', function ($t) {
        $t->id();
        $t->foreignId('user_id')->constrained()->onDelete('cascade');
        $t->text('body');
        $t->fullText('body');
        $t->timestamps();
    });
    return $builder->hasTable('users') && $builder->hasColumn('posts', 'user_id');
});
check('eloquent: models', function () {
    $user = User::create(['name' => 'Ada', 'meta' => ['x' => [1]]]);
    $user->posts()->createMany([['body' => 'tea and rice'], ['body' => 'water']]);
    return User::with('posts')->find($user->id)->posts->count() == 2 && User::first()->meta == ['x' => [1]];
});
check('eloquent: relations in conditions', function () {
    $query = User::whereHas('posts', fn ($posts) => $posts->where('body', 'like', 'tea%'));
    return $query->withCount('posts')->first()->posts_count == 2;
});
check('eloquent: paths in documents', fn () => User::where('meta->x', [1])->orWhereJsonContains('meta->x', 1)->count() == 1);
check('eloquent: upsert', function () use ($laravel) {
    $laravel->table('users')->upsert([['id' => 1, 'name' => 'Z'], ['id' => 2, 'name' => 'Y']], ['id'], ['name']);
    return User::find(1)->name == 'Z';
});
check('eloquent: chunks and cursors', function () {
    $seen = 0;
    User::orderBy('id')->chunk(1, function ($users) use (&$seen) { $seen += count($users); });
    foreach (User::cursor() as $user) {
        $seen++;
    }
    return $seen == 4;
});
check('eloquent: locks in a transaction', fn () => $laravel->connection()->transaction(
    fn () => User::where('id', 1)->lockForUpdate()->first()->id,
) == 1);
check('eloquent: changed tables', function () use ($builder) {
    $builder->table('users', function ($t) { $t->string('email', 99)->nullable()->unique()->after('name'); });
    $builder->table('users', function ($t) { $t->dropColumn('kind'); });
    return $builder->hasColumn('users', 'email') && !$builder->hasColumn('users', 'kind');
});
check('eloquent: full text', fn () => Post::whereFullText('body', 'rice')->count() == 1);
check('eloquent: all tables dropped', function () use ($builder) {
    $builder->dropAllTables();
    return !$builder->hasTable('users');
});
$any->executeStatement('DROP DATABASE php_frameworks');
