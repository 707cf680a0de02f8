// Tokens that hold for 2 s, and may then be renewed for 1 s. After that there is a new login.
//
// node grace.js server planted  has no renewal
// node grace.js server fixed    has one
// node grace.js client          logs in, and asks
const dgram = require('dgram')
const [role, how] = process.argv.slice(2)
const s = dgram.createSocket('udp4')
const now = () => performance.now()

if (role === 'server') {
  let token = null
  const login = () => { token = { made: now() } }
  const renew = how === 'fixed' ? login : undefined
  s.on('message', (m, from) => {
    if (token === null) login()
    const age = now() - token.made
    if (age >= 3000) login()
    else if (age >= 2000) renew()
    s.send('ok', from.port, from.address)
  })
  s.bind(7000)
} else {
  let asked = 0
  const ask = () => s.send('ask', 7000, '10.0.0.1')
  s.on('message', m => {
    console.log(m.toString())
    if (++asked < 3) ask()
    else s.close()
  })
  ask()
}
