// What programs in TypeScript rely on; the compiler checks it.

import { createConnection, createPool, open, type Field, type ResultSetHeader } from '../index.js';

interface Goods {
  id: number;
  name: string;
}

export async function use(): Promise<string[]> {
  const connection = await createConnection({ path: ':memory:', database: 'shop', dateStrings: ['DATE'] });
  const [done] = await connection.execute<ResultSetHeader>('INSERT INTO goods (name) VALUES (?)', ['tea']);
  const id: number = done.insertId;
  const [goods, fields] = await connection.query<Goods[]>('SELECT * FROM goods WHERE id = ?', [id]);
  const names: string[] = goods.map((it) => it.name).concat(fields.map((field: Field) => field.name));
  for await (const row of connection.stream<Goods>({ sql: 'SELECT * FROM goods', rowsAsArray: false })) names.push(row.name);
  const pool = createPool({ connectionLimit: 2 });
  const pooled = await pool.getConnection();
  pooled.release();
  const database = await open(':memory:', { bufferPoolSize: 1 << 26 });
  const server = await database.serve('127.0.0.1:0');
  return [...names, server.url];
}
