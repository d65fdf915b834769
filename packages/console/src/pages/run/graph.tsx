import type { StepStatus } from '@capstan/contracts';
import {
  Background,
  Controls,
  type Edge,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useStore,
} from '@xyflow/react';
import { memo, useMemo, useState } from 'react';
import { useTheme } from '../../app/theme.js';
import { inWords, toneOf } from '../../ui/badge.js';
import { EmptyState } from '../../ui/empty.js';
import { useNarrow } from '../../ui/narrow.js';
import { SafeText } from '../../ui/safe-text.js';
import { LayerPanel } from './layer-panel.js';
import { layOut, NODE_HEIGHT, NODE_WIDTH } from './layout.js';
import { countBy, type Group, gravest } from './plan-steps.js';
import '@xyflow/react/dist/base.css';
import './graph.css';

/** A layer with more steps than this is shown as one node. */
const MAX_DRAWN = 2000;

const LAYER_HEIGHT = 76;

/** The end points of edges are given, so that edges are drawn at once, before nodes are measured. */
const sized = (height: number, down = false): Pick<Node, 'width' | 'height' | 'measured' | 'handles'> => ({
  width: NODE_WIDTH,
  height,
  measured: { width: NODE_WIDTH, height },
  handles: down
    ? [
        { type: 'target', position: Position.Top, x: NODE_WIDTH / 2, y: 0, width: 1, height: 1 },
        { type: 'source', position: Position.Bottom, x: NODE_WIDTH / 2, y: height, width: 1, height: 1 },
      ]
    : [
        { type: 'target', position: Position.Left, x: 0, y: height / 2, width: 1, height: 1 },
        { type: 'source', position: Position.Right, x: NODE_WIDTH, y: height / 2, width: 1, height: 1 },
      ],
});

type StepNode = Node<{ group: Group; selected: boolean; down: boolean }, 'step'>;
type LayerNode = Node<{ groups: readonly Group[]; layer: number }, 'layer'>;
type GraphProps = { groups: readonly Group[]; selected: string | undefined; onSelect(step_id: string): void };

/** The plan as a graph, with the live status of the run. */
export function Graph({ groups, selected, onSelect }: GraphProps) {
  const theme = useTheme();
  const narrow = useNarrow();
  const shape = groups.map(({ needs }) => needs.join(' ')).join(',');
  // biome-ignore lint/correctness/useExhaustiveDependencies: places follow the shape alone, which no change of status touches
  const layout = useMemo(
    () =>
      layOut(
        groups.map(({ needs }) => needs),
        narrow,
      ),
    [shape, narrow],
  );
  const { down } = layout;
  const folded = groups.length > MAX_DRAWN;

  const [opened, setOpened] = useState<number | null>(null);

  const nodes = useMemo((): (StepNode | LayerNode)[] => {
    /** As many beside each other as fill the page. */
    const across = Math.ceil(Math.sqrt(layout.layers.length * (narrow ? 0.2 : 0.8)));
    if (folded)
      return layout.layers.map((layer, at) => ({
        id: `layer ${at}`,
        type: 'layer',
        position: { x: (at % across) * (NODE_WIDTH + 60), y: Math.floor(at / across) * 120 },
        ...sized(LAYER_HEIGHT),
        data: { layer: at, groups: layer.flatMap((index) => groups[index] ?? []) },
        ariaLabel: `Layer ${at + 1}, ${layer.length} steps`,
      }));
    return groups.map((group) => ({
      id: String(group.index),
      type: 'step',
      position: layout.place.get(group.index) ?? { x: 0, y: 0 },
      ...sized(NODE_HEIGHT, down),
      data: { group, selected: group.step_id === selected, down },
      ariaLabel: `${group.title}, ${inWords(group.status)}`,
    }));
  }, [groups, layout, selected, folded, down, narrow]);

  const edges = useMemo((): Edge[] => {
    if (folded)
      return layout.layers.slice(1).map((_, at) => ({
        id: `${at}`,
        source: `layer ${at}`,
        target: `layer ${at + 1}`,
        type: 'smoothstep',
      }));
    return groups.flatMap(({ index, needs, status }) =>
      needs.map((before) => ({
        id: `${before}-${index}`,
        source: String(before),
        target: String(index),
        className: status === 'running' ? 'lit' : '',
      })),
    );
  }, [groups, layout, folded]);

  const open = (node: StepNode | LayerNode) => {
    if (node.type === 'step') onSelect(node.data.group.step_id);
    else setOpened(node.data.layer);
  };
  const unfolded = folded && opened !== null ? layout.layers[opened] : undefined;

  if (groups.length === 0) return <EmptyState title="There are no steps yet" />;
  return (
    <div className="graph" data-nodes={nodes.length}>
      <ReactFlow
        key={String(down)}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={theme}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.12 }}
        minZoom={0.05}
        maxZoom={1.6}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        zoomOnDoubleClick={false}
        onlyRenderVisibleElements={nodes.length > 300}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => open(node)}
        onSelectionChange={({ nodes: [node] }) => node && open(node)}
      >
        <Background gap={22} size={1} color="var(--line)" />
        <Controls showInteractive={false} />
        <Distance />
      </ReactFlow>
      {unfolded && opened !== null ? (
        <LayerPanel
          layer={opened}
          groups={unfolded.flatMap((index) => groups[index] ?? [])}
          onSelect={onSelect}
          onClose={() => setOpened(null)}
        />
      ) : null}
    </div>
  );
}

/** Below this zoom no text can be read, and steps are drawn as blocks in the color of their status. */
const FAR = 0.35;

const Distance = () => {
  const far = useStore(({ transform: [, , zoom] }) => zoom < FAR);
  return <span className="graph-distance" data-far={far || undefined} />;
};

/** The elements that the library measures. Its own handles support dragging, and each listens to every change of the graph. */
const Ends = ({ down = false }) => (
  <>
    <span
      className={`react-flow__handle react-flow__handle-${down ? 'top' : 'left'} target`}
      data-handlepos={down ? Position.Top : Position.Left}
    />
    <span
      className={`react-flow__handle react-flow__handle-${down ? 'bottom' : 'right'} source`}
      data-handlepos={down ? Position.Bottom : Position.Right}
    />
  </>
);

const StepView = memo(({ data: { group, selected, down } }: NodeProps<StepNode>) => (
  <div className={`node tone-${toneOf(group.status)} ${group.status}`} data-chosen={selected || undefined}>
    <Ends down={down} />
    <span className="dot" />
    <span className="node-text">
      <span className="truncate node-title">
        <SafeText text={group.title} />
        {group.steps.length > 1 ? <span className="muted"> × {group.steps.length}</span> : null}
      </span>
      <span className="truncate node-tool">
        <SafeText text={group.tool_id} />
      </span>
    </span>
  </div>
));

const LayerView = memo(({ data: { groups, layer } }: NodeProps<LayerNode>) => {
  const steps = groups.flatMap((group): readonly { status: StepStatus }[] =>
    group.steps.length > 0 ? group.steps : [group],
  );
  return (
    <div className={`node layer tone-${toneOf(gravest(steps.map(({ status }) => status)))}`}>
      <Ends />
      <span className="node-text">
        <span className="node-title">
          Layer {layer + 1}: {groups.length.toLocaleString()} steps
        </span>
        {countBy(steps)
          .slice(0, 3)
          .map(([status, count]) => (
            <span key={status} className={`node-count tone-${toneOf(status)}`}>
              <span className="dot" />
              {count.toLocaleString()} {inWords(status).toLowerCase()}
            </span>
          ))}
      </span>
    </div>
  );
});

const NODE_TYPES = { step: StepView, layer: LayerView };
