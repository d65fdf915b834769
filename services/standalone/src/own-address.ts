const ANY = new Set(['0.0.0.0', '::']);

/** Where the gateway of this process is reached from this machine, for links in notifications. */
export function ownAddress({ host, port }: { host: string; port: number }): string {
  const name = ANY.has(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
