// A cache before an origin, which answers with a stale value while it fetches the new one.
//
//   swr.js origin
//   swr.js cache [trusting]
//   swr.js client
//
// A value is fresh for 1 s. For 3 s more the cache answers with it and fetches it again. Who writes
// does so at the origin, which answers when the cache has dropped the value. What the cache has
// asked for before it drops the value, it does not keep. A trusting cache keeps it.
const { serve, connect } = require('./lines.js');
const FRESH = 1_000_000_000n, STALE = 4_000_000_000n;
const [role, fault] = process.argv.slice(2);

async function origin() {
  let value = '0', cache;
  serve(7001, async (words, say) => {
    if (words[0] === 'get') return say(`value ${value}`);
    value = words[1];
    cache = cache || await connect('cache', 7000);
    await cache('drop');
    say('written');
  });
}

async function cache(trusting) {
  const origin = await connect('origin', 7001);
  let value, at = 0n, drops = 0, fetching;
  async function fetch() {
    const before = drops, asked = process.hrtime.bigint();
    const [, got] = await origin('get');
    if (trusting || before === drops) [value, at] = [got, asked];
    fetching = undefined;
    return got;
  }
  serve(7000, async ([word], say) => {
    if (word === 'drop') {
      drops++;
      [value, fetching] = [undefined, undefined];
      return say('dropped');
    }
    const age = process.hrtime.bigint() - at;
    if (value === undefined || age >= STALE) return say(`value ${await fetch()}`);
    const got = value;
    if (age >= FRESH && !fetching) fetching = fetch();
    say(`value ${got}`);
  });
}

async function client() {
  const origin = await connect('origin', 7001), cache = await connect('cache', 7000);
  for (let i = 1; i <= 3; i++) {
    await origin(`put ${i}`);
    for (let j = 0; j < 2; j++) {
      const [, got] = await cache('get');
      if (got !== String(i)) {
        console.error(`wrote ${i} and read ${got}`);
        process.exit(1);
      }
    }
  }
  console.log('read what was written');
  process.exit(0);
}

if (role === 'origin') origin();
else if (role === 'cache') cache(fault === 'trusting');
else client();
