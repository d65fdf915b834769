import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type SubmitEvent, useEffect, useState } from 'react';
import { logIn, loginOptionsQuery, meQuery } from '../../api/me.js';
import type { Search } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { ProblemNote } from '../../ui/empty.js';
import { TextField } from '../../ui/field.js';
import './login.css';

/** Accepts only paths of this console, so that a link cannot redirect a user to another site after login. */
const inside = (next: string | undefined): string => (next && /^\/(?![/\\])/.test(next) ? next : '/');

export function Login() {
  const { next, error: refused }: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: options } = useQuery(loginOptionsQuery);
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  useEffect(() => {
    document.title = 'Sign in · Capstan';
  }, []);

  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy || key.trim() === '') return;
    setBusy(true);
    setProblem(null);
    try {
      await logIn(key.trim());
      queries.removeQueries({ queryKey: meQuery.queryKey });
      await navigate({ href: inside(next), replace: true });
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="login">
      <div className="login-card">
        <img src="/capstan.svg" alt="" width={40} height={40} />
        <h1>Sign in to Capstan</h1>
        {refused ? <ProblemNote error={new Error(refused)} /> : null}
        {options?.oidc ? (
          <>
            <a className="button primary large full" href={`/v1/login/oidc?next=${encodeURIComponent(inside(next))}`}>
              Continue with {options.oidc.name}
            </a>
            <div className="login-or">or</div>
          </>
        ) : null}
        <form className="stack" onSubmit={submit}>
          <TextField
            label="API key"
            type="password"
            code
            value={key}
            onChange={setKey}
            placeholder="cap_…"
            hint={
              <>
                The first start writes one to <code>.capstan/admin.key</code>.
              </>
            }
            autoFocus
          />
          <ProblemNote error={problem} />
          <Button kind={options?.oidc ? 'ghost' : 'primary'} size="large" block submit busy={busy}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}
