// An account over UDP. A client sends a payment again when it has no answer; its number says so.
//
// node dedupe.js server planted  remembers numbers for 1.5 s
// node dedupe.js server fixed    remembers them for ever
// node dedupe.js client          pays once, and fails when it was charged twice
const dgram = require('dgram')
const [role, how] = process.argv.slice(2)
const s = dgram.createSocket('udp4')

if (role === 'server') {
  const seen = new Map()
  let paid = 0
  s.on('message', (m, from) => {
    const id = m.toString()
    for (const [k, at] of seen) if (how === 'planted' && Date.now() - at > 1500) seen.delete(k)
    if (!seen.has(id)) {
      paid += 10
      seen.set(id, Date.now())
    }
    s.send('paid ' + paid, from.port, from.address)
  })
  s.bind(7000)
} else {
  const pay = () => s.send('payment-1', 7000, '10.0.0.1')
  const again = setTimeout(pay, 1000)
  setTimeout(() => s.close(), 12000)
  s.on('message', m => {
    clearTimeout(again)
    console.log(m.toString())
    if (m.toString() === 'paid 20') process.exit(1)
  })
  pay()
}
