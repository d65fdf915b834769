const ANY = new Set(['0.0.0.0', '::']);

/** The URL of this process' gateway on this machine, for links in notifications. */
export function ownAddress({ host, port }: { host: string; port: number }): string {
  const name = ANY.has(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** How to run the command in this folder. It finds the key by itself, but needs CAPSTAN_URL if the address is not the default. */
export const commandFor = (url: string): string =>
  url === 'http://127.0.0.1:7070' ? 'npx capstan' : `CAPSTAN_URL=${url} npx capstan`;
