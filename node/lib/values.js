'use strict';

// Values between JavaScript and MySQL, as far as options of a connection decide them.
//
// | MySQL                   | JavaScript                                                      |
// |-------------------------|-----------------------------------------------------------------|
// | integers, YEAR, BIT     | number; beyond 2^53 a string, or a BigInt with `bigInts`        |
// | DOUBLE, FLOAT           | number                                                          |
// | DECIMAL                 | string, or a number with `decimalNumbers`                       |
// | DATE, DATETIME          | Date, or a string with `dateStrings`                            |
// | TIME, texts             | string                                                          |
// | JSON                    | what JSON.parse makes of it                                     |
// | BLOB, BINARY            | Buffer                                                          |

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?$/;
const ZONE = /^([+-])(\d\d):?(\d\d)$/;
const MINUTE = 60_000;

/** Minutes east of Greenwich, or `null` for the zone of the process. */
function offsetOf(timezone) {
  if (timezone === undefined || timezone === 'local') return null;
  if (timezone === 'Z') return 0;
  const parts = ZONE.exec(timezone);
  if (!parts) throw new TypeError(`${timezone} is no time zone: 'local', 'Z' and '+HH:MM' are`);
  const minutes = Number(parts[2]) * 60 + Number(parts[3]);
  return parts[1] === '-' ? -minutes : minutes;
}

/** A Date of a DATE or DATETIME; zero dates are invalid ones. */
function toDate(text, offset) {
  const parts = MOMENT.exec(text);
  if (!parts) return new Date(NaN);
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  if (month === 0 || day === 0) return new Date(NaN);
  const millis = Number((parts[7] ?? '0').padEnd(3, '0').slice(0, 3));
  const fields = [year, month - 1, day, hour, minute, second, millis];
  if (offset !== null) return new Date(Date.UTC(...fields) - offset * MINUTE);
  return new Date(...fields);
}

/** A Date as MySQL's text, in the zone of the connection. */
function dateText(date, offset) {
  if (Number.isNaN(date.getTime())) throw new TypeError('a parameter is an invalid Date');
  const minutes = offset ?? -date.getTimezoneOffset();
  const shown = new Date(date.getTime() + minutes * MINUTE);
  return shown.toISOString().slice(0, 23).replace('T', ' ');
}

const identity = (value) => value;

/** What makes JavaScript's value of the cells of a column; NULL never comes to it. */
function converterOf(field, options) {
  switch (field.kind) {
    case 'integer':
    case 'bit':
      if (options.bigInts) return identity;
      return (value) => (typeof value === 'bigint' ? value.toString() : value);
    case 'decimal':
      return options.decimalNumbers ? Number : identity;
    case 'json':
      return options.jsonStrings ? identity : JSON.parse;
    case 'date':
    case 'datetime': {
      const strings = options.dateStrings;
      const name = field.kind.toUpperCase();
      const named = Array.isArray(strings) && strings.some((it) => it.toUpperCase() === name);
      if (strings === true || named) return identity;
      const offset = offsetOf(options.timezone);
      return (value) => toDate(value, offset);
    }
    default:
      return identity;
  }
}

/** Makes rows of cells that lie one after another: objects, or arrays with `rowsAsArray`. */
function makeRows(fields, cells, options) {
  const width = fields.length;
  const converters = fields.map((field) => converterOf(field, options));
  converters.forEach((convert, column) => {
    if (convert === identity) return;
    for (let at = column; at < cells.length; at += width) {
      if (cells[at] !== null) cells[at] = convert(cells[at]);
    }
  });
  const rows = new Array(cells.length / width);
  for (let row = 0, at = 0; row < rows.length; row++, at += width) {
    if (options.rowsAsArray) {
      rows[row] = cells.slice(at, at + width);
      continue;
    }
    const object = {};
    for (let column = 0; column < width; column++) object[fields[column].name] = cells[at + column];
    rows[row] = object;
  }
  return rows;
}

/** A value for a placeholder, as the native part takes it. */
function toParameter(value, options) {
  switch (typeof value) {
    case 'number':
    case 'bigint':
    case 'string':
    case 'boolean':
      return value;
    case 'undefined':
      throw new TypeError('a parameter is undefined: null stands for NULL');
    case 'object':
      break;
    default:
      throw new TypeError(`a parameter cannot be a ${typeof value}`);
  }
  if (value === null || Buffer.isBuffer(value)) return value;
  if (value instanceof Date) return dateText(value, offsetOf(options.timezone));
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return JSON.stringify(value);
}

module.exports = { makeRows, offsetOf, toParameter };
