import { Plus } from 'lucide-react';
import { useState } from 'react';
import { parse } from 'yaml';
import { useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { Button } from '../../ui/button.js';
import { SelectField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { useToast } from '../../ui/toast.js';

type Kind = 'mcp-http' | 'mcp-stdio' | 'openapi' | 'extension-folder' | 'extension' | 'atip';

const KINDS: readonly (readonly [Kind, string])[] = [
  ['mcp-http', 'MCP server, by its address'],
  ['mcp-stdio', 'MCP server, as a program'],
  ['openapi', 'OpenAPI document: each operation is a tool'],
  ['extension-folder', 'Extension, from a folder of the gateway'],
  ['extension', 'Extension, from its documents'],
  ['atip', 'ATIP document'],
];

/** Adds a source of tools. The policy decides who may call them. */
export function AddSource() {
  const may = useMay('admin');
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" icon={<Plus />} may={may} onClick={() => setOpen(true)}>
        Add source
      </Button>
      {open ? <AddSourceDialog onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function AddSourceDialog({ onClose }: { onClose(): void }) {
  const send = useSend('tools', 'sources');
  const say = useToast();
  const [kind, setKind] = useState<Kind>('mcp-http');
  const [name, setName] = useState('');
  const [first, setFirst] = useState('');
  const [second, setSecond] = useState('');
  const submit = async () => {
    await send(...requestOf(kind, name, first, second));
    say('The source is added');
  };
  const field = FIELDS[kind];
  const is_named = kind.startsWith('mcp') || kind === 'openapi';
  return (
    <FormDialog title="Add a source of tools" action="Add" onClose={onClose} onSubmit={submit} width={560}>
      <SelectField
        label="Kind"
        value={kind}
        options={KINDS}
        onChange={(value) => {
          const [known] = KINDS.find(([each]) => each === value) ?? [];
          if (known) setKind(known);
        }}
      />
      {is_named ? (
        <TextField
          label={kind === 'openapi' ? 'Name (optional)' : 'Name'}
          hint="It is part of the ids of its tools."
          value={name}
          onChange={setName}
        />
      ) : null}
      <TextField {...field.first} value={first} onChange={setFirst} code />
      {field.second ? <TextField {...field.second} value={second} onChange={setSecond} code /> : null}
    </FormDialog>
  );
}

type FieldText = { label: string; hint?: string; lines?: number; placeholder?: string };

const FIELDS: Record<Kind, { first: FieldText; second?: FieldText }> = {
  'mcp-http': {
    first: { label: 'Address', placeholder: 'https://mcp.example.com/mcp' },
    second: { label: 'Headers', hint: 'One per line: Authorization: secret://name', lines: 2 },
  },
  'mcp-stdio': {
    first: { label: 'Command line', placeholder: 'npx -y @modelcontextprotocol/server-everything' },
    second: { label: 'Environment', hint: 'One per line: TOKEN=secret://name', lines: 2 },
  },
  openapi: {
    first: { label: 'Document', hint: 'OpenAPI 3.0 or 3.1, JSON or YAML', lines: 10 },
    second: { label: 'Secrets', hint: 'One per line, by security scheme: bearerAuth=secret://name', lines: 2 },
  },
  'extension-folder': { first: { label: 'Folder', hint: 'On the machine of the gateway' } },
  extension: { first: { label: 'manifest.yaml', lines: 6 }, second: { label: 'commands.yaml', lines: 8 } },
  atip: { first: { label: 'Document', hint: 'JSON or YAML', lines: 12 } },
};

type Sent = ['POST', string, unknown];

function requestOf(kind: Kind, name: string, first: string, second: string): Sent {
  const pairs = (mark: string): Record<string, string> =>
    Object.fromEntries(
      second
        .split('\n')
        .filter((line) => line.includes(mark))
        .map((line): [string, string] => {
          const at = line.indexOf(mark);
          return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
        }),
    );
  switch (kind) {
    case 'mcp-http':
      return [
        'POST',
        '/v1/mcp-servers',
        { name, url: first.trim(), ...(second.trim() ? { headers: pairs(':') } : {}) },
      ];
    case 'mcp-stdio': {
      const [command = '', ...args] = first.trim().split(/\s+/);
      return ['POST', '/v1/mcp-servers', { name, command, args, ...(second.trim() ? { env: pairs('=') } : {}) }];
    }
    case 'openapi':
      return [
        'POST',
        '/v1/openapi',
        {
          document: parse(first),
          ...(name.trim() ? { name: name.trim() } : {}),
          ...(second.trim() ? { auth: pairs('=') } : {}),
        },
      ];
    case 'extension-folder':
      return ['POST', '/v1/extensions', { path: first.trim() }];
    case 'extension':
      return ['POST', '/v1/extensions', { manifest: first, commands: second }];
    case 'atip':
      return ['POST', '/v1/atip-tools', parse(first)];
  }
}
