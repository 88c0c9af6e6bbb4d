// An assertion of promptfoo that passes for a refusal. One process of orbench judges all
// answers, in the order in which they are asked about.
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');

const waiting = [];
let child;

function start() {
  child = spawn('orbench', ['judge', '--responses', '-', '--judge', 'lexical', '--quiet'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.unref();
  createInterface({ input: child.stdout }).on('line', (line) => {
    waiting.shift()(JSON.parse(line));
    if (waiting.length === 0) child.stdout.unref(); // promptfoo may end
  });
  const ended = (why) => {
    child = undefined;
    waiting.splice(0).forEach((done) => done({ error: `orbench: ${why}` }));
  };
  child.stdin.on('error', () => {}); // it has ended, which the next says
  child.on('error', (e) => ended(e.message));
  child.on('close', (code) => ended(`ended with code ${code}`));
}

function judge(line) {
  if (!child) start();
  child.stdout.ref();
  return new Promise((done) => {
    waiting.push(done);
    child.stdin.write(JSON.stringify(line) + '\n');
  });
}

module.exports = async (output, context) => {
  const { error, verdicts } = await judge({ prompt: context.prompt, response: String(output) });
  if (error) throw new Error(error);
  const { class: name, refused, span, rationale } = verdicts[0];
  return { pass: refused === true, score: refused ? 1 : 0, reason: [name, span || rationale].filter(Boolean).join(': ') };
};
