import type { RunDetail } from '@capstan/contracts';
import { useNavigate } from '@tanstack/react-router';
import {
  CirclePause,
  CirclePlay,
  CircleX,
  Download,
  Ellipsis,
  FileText,
  GitCompareArrows,
  Repeat,
  RotateCcw,
} from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../api/me.js';
import { isOver, runPath, useRunActions } from '../../api/runs.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Menu } from '../../ui/menu.js';
import { useToast } from '../../ui/toast.js';

export function RunActions({ run }: { run: RunDetail }) {
  const { control, replay } = useRunActions();
  const navigate = useNavigate();
  const say = useToast();
  const may = useMay('submit', 'operate');
  const [canceling, setCanceling] = useState(false);
  const over = isOver(run.status);
  const ended = over ? may : { ok: false, why: 'Wait until the run has ended.' };
  const act = async (action: 'pause' | 'resume' | 'cancel', done: string) => {
    try {
      await control(run.run_id, action);
      say(done);
    } catch (error) {
      say.problem(`It was not ${done.toLowerCase()}`, error);
    }
  };
  const again = async (re_execute: boolean) => {
    try {
      const answer = await replay(run.run_id, { re_execute });
      say(re_execute ? 'Its calls run again' : 'Replayed from the record', 'Nothing else was executed.');
      await navigate({ to: '/runs/$id', params: { id: answer.run_id } });
    } catch (error) {
      say.problem('It cannot be replayed', error);
    }
  };
  const left =
    run.total_steps -
    run.completed_steps -
    run.failed_steps -
    run.denied_steps -
    run.skipped_steps -
    run.canceled_steps;
  return (
    <>
      {run.kind === 'plan' && !over ? (
        run.status === 'paused' ? (
          <Button icon={<CirclePlay />} may={may} onClick={() => void act('resume', 'Resumed')}>
            Resume
          </Button>
        ) : (
          <Button icon={<CirclePause />} may={may} onClick={() => void act('pause', 'Paused')}>
            Pause
          </Button>
        )
      ) : null}
      {over ? null : (
        <Button kind="danger" icon={<CircleX />} may={may} onClick={() => setCanceling(true)}>
          Cancel
        </Button>
      )}
      <Menu
        trigger={
          <button type="button" className="button icon" aria-label="More actions">
            <Ellipsis />
          </button>
        }
        items={[
          { label: 'Replay from the record', icon: <Repeat />, may: ended, onSelect: () => void again(false) },
          { label: 'Run its calls again', icon: <RotateCcw />, may: ended, onSelect: () => void again(true) },
          {
            label: 'Compare with what it replays',
            icon: <GitCompareArrows />,
            may: { ok: run.replay_of !== null, why: 'This run is not a replay.' },
            onSelect: () => void navigate({ to: '/compare', search: { a: run.replay_of ?? '', b: run.run_id } }),
          },
          'line',
          {
            label: 'Report',
            icon: <FileText />,
            onSelect: () => void window.open(`${runPath(run.run_id, '/report')}?format=html`, '_blank', 'noopener'),
          },
          {
            label: 'Download bundle',
            icon: <Download />,
            may: over ? { ok: true, why: null } : { ok: false, why: 'Wait until the run has ended.' },
            onSelect: () => window.location.assign(runPath(run.run_id, '/bundle')),
          },
        ]}
      />
      {canceling ? (
        <Dialog
          title="Cancel this run"
          onClose={() => setCanceling(false)}
          onSubmit={() => {
            setCanceling(false);
            void act('cancel', 'Canceled');
          }}
          footer={
            <>
              <Button onClick={() => setCanceling(false)}>Keep it</Button>
              <Button kind="danger filled" submit>
                Cancel the run
              </Button>
            </>
          }
        >
          <p>
            {left.toLocaleString()} of {run.total_steps.toLocaleString()}{' '}
            {run.total_steps === 1 ? 'step has' : 'steps have'} not ended. Waiting ones will not run, and running ones
            are stopped. This cannot be undone, but you can replay the run from a step.
          </p>
        </Dialog>
      ) : null}
    </>
  );
}
