/// <reference types="node" />

/** A value for a placeholder. Objects are sent as JSON. */
export type Parameter = null | boolean | number | bigint | string | Date | Uint8Array | object;
export type Parameters = readonly Parameter[] | Record<string, Parameter> | Parameter;

export interface OpenOptions {
  /** Bytes of memory for pages; a quarter of the machine's without it. */
  bufferPoolSize?: number;
  /** Bytes of memory for statements; a quarter of the machine's without it. */
  workMemory?: number;
  /** Where LOAD DATA and INTO OUTFILE may go; nowhere without it. */
  secureFilePriv?: string;
  /** A directory is not made where there is none. */
  mustExist?: boolean;
}

export interface QueryOptions {
  /** Rows are arrays instead of objects. */
  rowsAsArray?: boolean;
  /** Dates are strings: all of them, or those of these types. */
  dateStrings?: boolean | ('DATE' | 'DATETIME')[];
  /** DECIMAL is a number, which may be inexact, instead of a string. */
  decimalNumbers?: boolean;
  /** Integers beyond 2^53 are BigInts instead of strings. */
  bigInts?: boolean;
  /** JSON is text instead of what JSON.parse makes of it. */
  jsonStrings?: boolean;
  /** The zone of Date objects: 'local', 'Z' or '+HH:MM'. */
  timezone?: string;
  /** Objects are values for `:name` placeholders. */
  namedPlaceholders?: boolean;
}

export interface ConnectOptions extends QueryOptions {
  /** The default database, which is made where there is none; 'main' without it. */
  database?: string;
  /** A text may have several statements. */
  multipleStatements?: boolean;
}

export interface ConnectionOptions extends ConnectOptions, OpenOptions {
  /** A directory, or ':memory:', which it is without one. */
  path?: string;
}

export interface PoolOptions extends ConnectionOptions {
  /** Connections at once; 10 without it. */
  connectionLimit?: number;
}

export interface Statement extends QueryOptions {
  sql: string;
  values?: Parameters;
}

export type FieldKind =
  | 'null' | 'integer' | 'bit' | 'decimal' | 'double' | 'text' | 'bytes' | 'date' | 'time' | 'datetime' | 'json';

/** A column of a result. */
export interface Field {
  name: string;
  kind: FieldKind;
  unsigned: boolean;
  nullable: boolean;
}

/** How a statement without rows ended. */
export interface ResultSetHeader {
  fieldCount: number;
  affectedRows: number;
  insertId: number;
  info: string;
  warningStatus: number;
  changedRows: number;
}

/** An error of a statement. `errno` is MySQL's number and `code` its name, as in 'ER_DUP_ENTRY'. */
export interface QueryError extends Error {
  code: string;
  errno: number;
  sqlState: string;
  sqlMessage: string;
  sql?: string;
}

export interface Warning {
  level: 'Note' | 'Warning' | 'Error';
  code: number;
  message: string;
}

export type Row = Record<string, any>;

interface Queryable {
  /** Runs a text, into which the values are written, escaped. Several statements give lists. */
  query<T = Row[]>(statement: string | Statement, values?: Parameters): Promise<[T, Field[]]>;
  /** Runs a prepared statement with values. */
  execute<T = Row[]>(statement: string | Statement, values?: Parameters): Promise<[T, Field[]]>;
}

export interface PreparedStatement {
  execute<T = Row[]>(values?: Parameters): Promise<[T, Field[]]>;
  close(): Promise<void>;
}

/** A connection. Its statements run one after another. */
export class Connection implements Queryable {
  private constructor();
  readonly threadId: number;
  query<T = Row[]>(statement: string | Statement, values?: Parameters): Promise<[T, Field[]]>;
  execute<T = Row[]>(statement: string | Statement, values?: Parameters): Promise<[T, Field[]]>;
  prepare(statement: string | Statement): Promise<PreparedStatement>;
  /** The rows of a statement, read while they are taken. Meanwhile the connection takes no other. */
  stream<T = Row>(statement: string | Statement, values?: Parameters): AsyncGenerator<T, void, void>;
  beginTransaction(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  ping(): Promise<true>;
  changeUser(options?: { database?: string }): Promise<void>;
  reset(): Promise<void>;
  warnings(): Promise<Warning[]>;
  /** Ends the statement that runs, with error 1317. */
  interrupt(): void;
  end(): Promise<void>;
  destroy(): void;
  escape(value: unknown): string;
  escapeId(name: string | string[]): string;
  format(sql: string, values?: unknown): string;
}

export interface PoolConnection extends Connection {
  release(): void;
}

/** Connections to one database, which are made when they are needed and used again. */
export class Pool implements Queryable {
  private constructor();
  getConnection(): Promise<PoolConnection>;
  query<T = Row[]>(statement: string | Statement, values?: Parameters): Promise<[T, Field[]]>;
  execute<T = Row[]>(statement: string | Statement, values?: Parameters): Promise<[T, Field[]]>;
  end(): Promise<void>;
}

export interface Server {
  /** How root connects. */
  readonly url: string;
  stop(): Promise<void>;
}

/** An open database. It stays open until it and its connections are closed. */
export class Database {
  private constructor();
  connect(options?: ConnectOptions): Promise<Connection>;
  /** Opens the database to MySQL clients, on '127.0.0.1:0' or 'unix:/some/path'. */
  serve(address: string): Promise<Server>;
  /** Closes a database in memory, of which copies can be opened then. */
  intoTemplate(): Promise<Template>;
  close(): Promise<void>;
}

/** A database in memory of which copies are opened. They share memory until they write. */
export class Template {
  private constructor();
  open(): Promise<Database>;
}

/** Opens the database in a directory, or makes one in memory for ':memory:'. */
export function open(directory: string, options?: OpenOptions): Promise<Database>;
/** A connection to the database in `path`, which it opens. */
export function createConnection(options?: string | ConnectionOptions): Promise<Connection>;
/** A pool of connections to the database in `path`. */
export function createPool(options?: string | PoolOptions): Pool;
export function escape(value: unknown): string;
export function escapeId(name: string | string[]): string;
export function format(sql: string, values?: unknown): string;
export function raw(sql: string): { toSqlString(): string };
