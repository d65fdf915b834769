import type { Json } from '@capstan/contracts';
import { z } from 'zod';
import { EffectsDeclaration } from '../effects/effects-declaration.js';

const Version = z.string().regex(/^0\.[1-6]$/, 'expected 0.1 to 0.6');
const Default = z.custom<Json>(() => true).optional();
const Choices = z.array(z.union([z.string(), z.number()])).optional();

const ParameterType = z.enum(['string', 'integer', 'number', 'boolean', 'file', 'directory', 'url', 'enum', 'array']);

export const AtipArgument = z.object({
  name: z.string(),
  type: ParameterType,
  description: z.string(),
  required: z.boolean().default(true),
  default: Default,
  variadic: z.boolean().default(false),
  enum: Choices,
});

export const AtipOption = z.object({
  name: z.string(),
  flags: z.array(z.string().startsWith('-')).min(1),
  type: ParameterType,
  description: z.string(),
  required: z.boolean().default(false),
  default: Default,
  enum: Choices,
  envVar: z
    .string()
    .regex(/^[A-Z_][A-Z0-9_]*$/)
    .optional(),
  variadic: z.boolean().default(false),
});

export type AtipOption = z.infer<typeof AtipOption>;

export const AtipCommand = z.object({
  description: z.string(),
  arguments: z.array(AtipArgument).optional(),
  options: z.array(AtipOption).optional(),
  get commands() {
    return z.record(z.string(), AtipCommand).optional();
  },
  effects: EffectsDeclaration.optional(),
  examples: z.array(z.string()).optional(),
});
export type AtipCommand = z.infer<typeof AtipCommand>;

const Signature = z.object({
  type: z.enum(['cosign', 'gpg', 'minisign']).optional(),
  identity: z.string().optional(),
  issuer: z.url().optional(),
  bundle: z.url().optional(),
});

const TrustBlock = z.object({
  source: z.enum(['native', 'vendor', 'org', 'community', 'user', 'inferred']).optional(),
  verified: z.boolean().optional(),
  integrity: z
    .object({
      checksum: z
        .string()
        .regex(/^[a-z0-9]+:[a-fA-F0-9]+$/)
        .optional(),
      signature: Signature.optional(),
    })
    .optional(),
  provenance: z
    .object({
      url: z.url().optional(),
      format: z.enum(['slsa-provenance-v1', 'in-toto']).optional(),
      slsaLevel: z.int().min(0).max(4).optional(),
      builder: z.string().optional(),
    })
    .optional(),
  shimIntegrity: z
    .object({ signature: Signature.optional(), lastVerified: z.iso.datetime({ offset: true }).optional() })
    .optional(),
});

const Authentication = z.object({
  required: z.boolean().optional(),
  methods: z
    .array(
      z.object({
        type: z.enum(['token', 'oauth', 'api-key', 'password', 'certificate']),
        envVar: z.string().optional(),
        description: z.string().optional(),
        setupCommand: z.string().optional(),
      }),
    )
    .optional(),
  checkCommand: z.string().optional(),
});

const Pattern = z.object({
  name: z.string(),
  description: z.string(),
  steps: z.array(z.object({ command: z.string(), description: z.string().optional() })),
  variables: z.record(z.string(), z.object({ type: z.string(), description: z.string() })).optional(),
  tags: z.array(z.string()).optional(),
  executable: z.boolean().optional(),
});

/**
 * An ATIP document. Accepts and rejects exactly what schema 0.6 does. Members that the schema does not mention are kept, and
 * `unknownMembers` lists them.
 */
export const AtipDocument = z.object({
  atip: z.union([
    Version,
    z.object({
      version: Version,
      features: z
        .array(
          z.enum([
            'partial-discovery',
            'interactive-effects',
            'trust-v1',
            'trust-integrity',
            'trust-provenance',
            'patterns-v1',
            'content-addressable',
          ]),
        )
        .optional(),
      minAgentVersion: Version.optional(),
    }),
  ]),
  name: z
    .string()
    .regex(/^[a-zA-Z0-9_-]+$/, 'expected the name of an executable')
    .max(100),
  version: z.string(),
  description: z.string().refine((text) => [...text].length <= 200, 'longer than 200 characters'),
  homepage: z.url().optional(),
  binary: z
    .object({
      hash: z.string().regex(/^sha256:[a-fA-F0-9]{64}$/),
      name: z.string().optional(),
      version: z.string().optional(),
      platform: z
        .string()
        .regex(/^(linux|darwin|windows)-(amd64|arm64|arm|386)$/)
        .optional(),
    })
    .optional(),
  partial: z.boolean().optional(),
  filter: z
    .object({ commands: z.array(z.string()).optional(), depth: z.int().min(1).nullable().optional() })
    .optional(),
  totalCommands: z.int().min(0).optional(),
  includedCommands: z.int().min(0).optional(),
  omitted: z
    .object({
      reason: z.enum(['filtered', 'depth-limited', 'size-limited', 'deprecated']).optional(),
      safetyAssumption: z.enum(['unknown', 'known-safe', 'known-unsafe', 'same-as-included']).optional(),
    })
    .optional(),
  trust: TrustBlock.optional(),
  commands: z.record(z.string(), AtipCommand).optional(),
  globalOptions: z.array(AtipOption).optional(),
  authentication: Authentication.optional(),
  effects: EffectsDeclaration.optional(),
  patterns: z.array(Pattern).optional(),
});
export type AtipDocument = z.infer<typeof AtipDocument>;
