// telling.mjs: the story as a model's turns on the stand-in for the Anthropic API.
import assert from 'node:assert/strict';
import { prefix } from './anthropic.mjs';

// telling returns a model that tells a story, and what to call in the end.
export function telling(story) {
  const calls = story.calls();
  let failed, last, over;
  return {
    model: async (answers, body) => {
      last = body; // the terminal UI asks before its servers are there
      try {
        const next = await calls.next(answers.at(-1));
        over = next.done;
        return next.done ? [] : [{ name: prefix + next.value.name, input: next.value.arguments }];
      } catch (err) {
        failed = err;
        return [];
      }
    },
    // end fails unless all was told, and nothing of it was cut.
    end: () => {
      if (failed) throw failed;
      assert(over, 'the story broke off');
      const tools = last.tools.filter((t) => t.name.startsWith(prefix))
        .map((t) => ({ name: t.name.slice(prefix.length), description: t.description, inputSchema: t.input_schema }));
      const said = story.compare(tools);
      const texts = [last.system, ...last.messages.map((m) => m.content)].flat().map((part) => part?.text ?? part).join('\n');
      assert(texts.includes(said.instructions), 'the instructions are cut or missing');
      return `${tools.length} tools, ${story.texts.length} answers, instructions whole, progress sent ${said.progress} times`;
    },
  };
}
