import type { Hold, JsonObject, QuestionRequest } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { Check, ExternalLink, X } from 'lucide-react';
import { useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { type May, useMe } from '../../api/me.js';
import { Button } from '../../ui/button.js';
import { ProblemNote } from '../../ui/empty.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { JsonField, SchemaForm } from '../../ui/schema-form.js';
import { useToast } from '../../ui/toast.js';

/** What the tool asks in the middle of the call. The answers go back to it as they are. */
export function QuestionPanel({ hold }: { hold: Hold }) {
  const me = useMe();
  const requests = Object.entries(hold.question?.requests ?? {});
  // An answer is no approval: whoever made the call may give it.
  const may: May = me?.actor === hold.actor ? { ok: true, why: null } : hold.can_decide;
  return (
    <Panel title={requests.length > 1 ? 'The tool asks questions' : 'The tool asks a question'}>
      <div className="stack">
        {requests.map(([key, request]) => (
          <Request key={`${hold.round} ${key}`} hold_id={hold.hold_id} name={key} request={request} may={may} />
        ))}
      </div>
    </Panel>
  );
}

type RequestProps = { hold_id: string; name: string; request: QuestionRequest; may: May };

function Request({ hold_id, name, request: { method, params = {} }, may }: RequestProps) {
  const { answer } = useHoldActions();
  const say = useToast();
  const [content, setContent] = useState<JsonObject>({});
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = async (given: JsonObject) => {
    setBusy(true);
    setProblem(null);
    try {
      await answer(hold_id, { [name]: given });
      say('Your answer is recorded');
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const isUrl = params.mode === 'url';
  const isForm = method === 'elicitation/create' && !isUrl;
  const schema = params.requestedSchema;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (may.ok && !busy) void send(method === 'elicitation/create' ? { action: 'accept', content } : content);
      }}
    >
      <p>
        <SafeText text={typeof params.message === 'string' ? params.message : `${name}: ${method}`} line={false} />
      </p>
      {isUrl ? <OpenUrl url={String(params.url)} /> : null}
      {isForm && isObject(schema) ? <SchemaForm schema={schema} value={content} onChange={setContent} /> : null}
      {method === 'elicitation/create' ? null : (
        <JsonField
          label="Answer as JSON"
          hint="The MCP client that made the call usually answers this itself."
          wrong={undefined}
          value={undefined}
          onChange={(value) => setContent(isObject(value) ? value : {})}
        />
      )}
      <div className="row wrap">
        <Button kind="primary" icon={<Check />} submit may={may} busy={busy}>
          {isUrl ? 'Done there' : 'Answer'}
        </Button>
        {method === 'elicitation/create' ? (
          <Button icon={<X />} may={may} busy={busy} onClick={() => void send({ action: 'decline' })}>
            Decline
          </Button>
        ) : null}
      </div>
      <ProblemNote error={problem} />
    </form>
  );
}

/** The address is the tool's word: it is shown whole, and opened for nothing but the web. */
function OpenUrl({ url }: { url: string }) {
  if (!/^https?:\/\//.test(url)) return <SafeText text={url} />;
  return (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer">
        <SafeText text={url} /> <ExternalLink aria-hidden="true" size={13} />
      </a>
    </p>
  );
}
