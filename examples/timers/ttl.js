// A cache before an origin. It asks who may read, and says how old a value is.
//
//   ttl.js origin
//   ttl.js auth
//   ttl.js cache [blind]
//   ttl.js client
//
// A value may be 1.5 s old. The cache looks at its age when the request arrives, asks whether the
// client may have it, and looks at the age again when it answers. A blind cache answers with
// what it found first.
const { serve, connect } = require('./lines.js');
const TTL = 1500;
const [role, fault] = process.argv.slice(2);

async function cache(blind) {
  const origin = await connect('origin', 7001), auth = await connect('auth', 7002);
  let value, at = -Infinity;
  const fresh = () => performance.now() - at < TTL;
  async function fetch() {
    const asked = performance.now();
    value = (await origin('get'))[1];
    at = asked;
  }
  serve(7000, async (words, say) => {
    while (!fresh()) await fetch();
    const [may] = await auth('may ' + words[1]);
    while (!blind && !fresh()) await fetch();
    say(may === 'yes' ? `value ${value} age ${Math.floor(performance.now() - at)}` : 'no');
  });
}

async function client() {
  const ask = await connect('cache', 7000);
  for (let i = 0; i < 4; i++) {
    const words = await ask('get me');
    if (Number(words[3]) > TTL) {
      console.error(`a value that is ${words[3]} ms old`);
      process.exit(1);
    }
  }
  console.log('read');
  process.exit(0);
}

switch (role) {
  case 'origin':
    serve(7001, (words, say) => say('value red'));
    break;
  case 'auth':
    serve(7002, (words, say) => say('yes'));
    break;
  case 'cache':
    cache(fault === 'blind');
    break;
  default:
    client();
}
