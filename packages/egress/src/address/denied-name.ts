/** Names that mean this machine or a cloud's metadata wherever they are resolved, so that no resolver need be asked. */
const LOCAL = ['localhost', 'localdomain', 'ip6-localhost', 'ip6-loopback'];
const METADATA = ['metadata', 'metadata.google.internal', 'metadata.tencentyun.com', 'instance-data'];

const isUnder = (name: string, names: string[]) => names.some((one) => name === one || name.endsWith(`.${one}`));

export const deniedName = (name: string): string | null => (isUnder(name, LOCAL) ? 'loopback' : null);

export const metadataName = (name: string): string | null =>
  METADATA.includes(name) ? "the name of a cloud's metadata service" : null;
