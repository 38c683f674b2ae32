// A writer in Node.js, for the binding by its memory: the requests open, sql
// and close of binding_writer.c. Its module: need_better_sqlite3, holdfast.py.
'use strict';
const Database = require(
  process.env.HOLDFAST_NODE_MODULES + '/better-sqlite3');
const readline = require('readline');

const connections = new Map();

function sql(name, text) {
  const statement = connections.get(name).prepare(text);
  if (!statement.reader) {
    statement.run();
    return '';
  }
  const rows = statement.raw().all();
  return rows.length ? String(rows[rows.length - 1][0]) : '';
}

function act(verb, name, text) {
  if (verb === 'open') {
    connections.set(name, new Database(text));
  } else if (verb === 'sql') {
    return sql(name, text);
  } else if (verb === 'close') {
    connections.get(name).close();
  } else {
    throw new Error('no such request');
  }
  return '';
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const [verb, name, ...rest] = line.split(' ');
  try {
    console.log(`ok ${act(verb, name, rest.join(' '))}`);
  } catch (e) {
    console.log(`error ${e.message}`);
  }
});
