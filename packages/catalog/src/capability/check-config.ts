import { type Agent, type Capability, Failure, type JsonObject } from '@capstan/contracts';
import { compileSchema } from '../schema/compile-schema.js';

/** Refuses configuration for capabilities that the agent does not have, and invalid values. */
export function checkConfig(capabilities: readonly Capability[], config: Agent['config']): void {
  const known = new Map(capabilities.map((capability) => [capability.id, capability]));
  for (const [id, values] of Object.entries(config)) {
    const capability = known.get(id);
    if (!capability) throw wrong(`config.${id}: the agent has no such capability`);
    for (const problem of problemsOf(capability, values)) throw wrong(`config.${id}${problem}`);
  }
}

function problemsOf({ config_schema }: Capability, values: JsonObject): string[] {
  if (config_schema === null) return Object.keys(values).length > 0 ? [': there is nothing to configure'] : [];
  return compileSchema(config_schema)(values).map(
    ({ path, message }) => `${path.map((step) => `.${step}`).join('')} ${message}`,
  );
}

const wrong = (detail: string) => new Failure('INVALID_REQUEST', { detail });
