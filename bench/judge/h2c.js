// HTTP/2 without TLS: 5 ms for a request, logged like the server in Python does.
// Started as `node h2c.js LOG`; prints its port, and ends with its standard input.
const fs = require('fs')
const http2 = require('http2')

const log = fs.createWriteStream(process.argv[2])
const connections = new Map()
const server = http2.createServer()
server.on('stream', stream => {
  const began = performance.now() / 1000
  const session = stream.session
  if (!connections.has(session)) connections.set(session, connections.size + 1)
  const connection = connections.get(session)
  stream.on('error', () => {})
  setTimeout(() => {
    if (stream.destroyed) return
    stream.respond({ ':status': 200 })
    stream.end('ok')
    const took = performance.now() / 1000 - began
    log.write(`${JSON.stringify([connection, began, took, 200])}\n`)
  }, 5)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume()
process.stdin.on('end', () => log.end(() => process.exit(0)))
