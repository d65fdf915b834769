import { capabilityId } from '@capstan/contracts';

/** True if a version satisfies `id@wanted`: the same major number, and not older. */
export function satisfies(version: string, ref: string): boolean {
  const wanted = ref.slice(capabilityId(ref).length + 1);
  if (wanted === '') return true;
  const [major = 0, minor = 0, patch = 0] = numbers(wanted);
  const [has = 0, hasMinor = 0, hasPatch = 0] = numbers(version);
  return has === major && (hasMinor > minor || (hasMinor === minor && hasPatch >= patch));
}

const numbers = (version: string) => version.split('.').map(Number);
