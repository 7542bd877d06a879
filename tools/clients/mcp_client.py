#!/usr/bin/env python3
"""Drives `bower mcp`, and `bower serve` at /mcp, by PyPI's own client, in both eras of the protocol: every tool, resource, prompt
and completion.

    mcp_client.py BOWER

The client itself checks each structured answer against the schema that the tool declares.
"""
import asyncio
import json
import os
import pathlib
import sys
import tempfile

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference


def server(bower, home, *arguments):
    kept = {name: value for name, value in os.environ.items() if name.startswith('BOWER_')}
    return StdioServerParameters(command=bower, args=['mcp', *arguments], env={**kept, 'BOWER_HOME': str(home)})


def text(result):
    return '\n'.join(block.text for block in result.content)


async def call(client, name, **arguments):
    """A tool's fields; its words must be there too."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, f'{name}: {text(result)}'
    assert text(result).strip(), name
    return result.structured_content


async def trouble(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert result.is_error, f'{name}: {result}'
    return text(result)


MODES = ('legacy', 'auto', '2026-07-28')
WHOLE_STORE = {'memory_prune'}
FILES = {'memory_index'}


async def life(client, mode, without=frozenset()):
    """What goes over every wire alike: a memory's life by tools. The memory that is left."""
    if mode != '2026-07-28':
        # Who pins a version asks for no introduction.
        assert client.server_info.name == 'bowerbird', client.server_info
        assert client.instructions
    tools = (await client.list_tools()).tools
    names = {tool.name for tool in tools}
    assert len(names) == 13 - len(without) and not names & without, names
    assert all(tool.output_schema and tool.annotations for tool in tools)
    older = await call(client, 'memory_store', content='The API port is 8080', tags=['api'])
    newer = await call(client, 'memory_store', content='The API port is 9090', tags=['api'])
    assert newer['outcome'] == 'supersede', newer
    found = await call(client, 'memory_search', query='which port has the API?')
    assert found['results'][0]['id'] == newer['id'], found
    assert (await call(client, 'memory_get', id=newer['id'][:8]))['memory']['content'] == 'The API port is 9090'
    assert len((await call(client, 'memory_history', id=older['id']))['chain']) == 2
    assert (await call(client, 'memory_list', tags=['api']))['total'] == 1
    assert (await call(client, 'memory_feedback', id=newer['id'], verdict='useful'))['confidence'] > 0
    assert (await call(client, 'memory_review'))['reviews'] == []
    assert (await call(client, 'memory_consolidate', dry_run=True))['merged'] == 0
    assert (await call(client, 'memory_status'))['total_memories'] == 1
    assert 'memory_list shows ids' in await trouble(client, 'memory_get', id='ffffffff')
    assert 'unknown field' in await trouble(client, 'memory_search', query='x', top_k=3)
    try:
        await client.call_tool('memory_unknown', {})
        raise AssertionError('a tool that is not there was called')
    except MCPError as error:
        assert error.code == -32602, error
    read = await client.read_resource('bower://item/' + newer['id'])
    assert 'The API port is 9090' in read.contents[0].text
    assert len((await client.list_resource_templates()).resource_templates) == 2
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ['recall', 'save']
    prompt = await client.get_prompt('recall', {'topic': 'the API port'})
    assert '9090' in prompt.messages[0].content.text
    typed = await client.complete(PromptReference(name='recall'), {'name': 'tag', 'value': 'a'})
    assert typed.completion.values == ['api'], typed
    reference = ResourceTemplateReference(uri='bower://item/{id}')
    typed = await client.complete(reference, {'name': 'id', 'value': newer['id'][:4]})
    assert newer['id'] in typed.completion.values
    return newer


async def many(client):
    """32 at once: each is answered, to the right one."""
    answers = await asyncio.gather(*(call(client, 'memory_search', query=f'Number {at} of many') for at in range(32)))
    assert all(answer['results'] for answer in answers)


async def live(bower, mode, folder):
    """All of it, by a process of one's own."""
    docs = folder / 'docs'
    docs.mkdir()
    (docs / 'CANONICAL.md').write_text('# Rules\n\n## Water\n\nNever at noon.\n')
    for at in range(200):
        (docs / f'{at}.md').write_text(f'# Note {at}\n\nNumber {at} of many.\n')
    async with Client(server(bower, folder / 'home', '--session', 'first'), mode=mode) as client:
        newer = await life(client, mode)
        assert (await call(client, 'memory_prune', dry_run=True))['pruned'] == 0
        steps = []

        async def step(progress, total, message):
            steps.append((progress, total, message))

        result = await client.call_tool('memory_index', {'paths': [str(docs)]}, progress_callback=step)
        assert result.structured_content['indexed'] == 201, result
        assert steps and steps == sorted(steps, key=lambda one: one[0]), steps
        assert (await call(client, 'memory_status'))['total_documents'] == 201
        resources = (await client.list_resources()).resources
        assert [str(one.uri) for one in resources] == ['bower://memory/canonical', 'bower://session/current'], resources
        read = await client.read_resource('bower://memory/canonical')
        assert 'Never at noon.' in read.contents[0].text
        read = await client.read_resource('bower://session/current')
        assert 'The API port is 9090' in read.contents[0].text
        await many(client)
        assert (await call(client, 'memory_forget', ids=[newer['id']]))['receipt']['items'] >= 1
        return client.protocol_version


async def served(bower, folder):
    """The same by `bower serve`, each with a token of one's own, in one store."""
    environment = {**os.environ, 'BOWER_HOME': str(folder / 'served')}

    async def once(*arguments):
        process = await asyncio.create_subprocess_exec(
            bower, '--format', 'json', *arguments, env=environment, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        assert process.returncode == 0, arguments
        return json.loads(out)['data']

    tokens = {name: (await once('token', 'create', name, '--access', 'write', '--owner', name))['token'] for name in MODES}
    tokens['reader'] = (await once('token', 'create', 'reader'))['token']
    process = await asyncio.create_subprocess_exec(
        bower, '--format', 'json', '--quiet', 'serve', '--port', '0', '--rate', '0', env=environment,
        stdout=asyncio.subprocess.PIPE)
    try:
        address = json.loads(await process.stdout.readline())['data']['address']

        def connected(name, mode):
            web = httpx2.AsyncClient(headers={'Authorization': f'Bearer {tokens[name]}'}, timeout=30)
            return Client(streamable_http_client(f'{address}/mcp', http_client=web), mode=mode)

        for mode in MODES:
            async with connected(mode, mode) as client:
                newer = await life(client, mode, WHOLE_STORE | FILES)
                for at in range(32):
                    await call(client, 'memory_store', content=f'Number {at} of many was handed out in room {at + 40}', gate='off')
                await many(client)
                found = await call(client, 'memory_search', query='which port has the API?', limit=50)
                assert sum('API port' in one['text'] for one in found['results']) == 1, f'another owner: {found}'
                assert (await call(client, 'memory_forget', ids=[newer['id']]))['receipt']['items'] >= 1
                assert 'outside of' in await trouble(client, 'memory_list', owner='bob')
        async with connected('reader', 'auto') as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert 'memory_search' in names and not names & {'memory_store', 'memory_forget', 'memory_index'}, names
            assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ['recall']
            assert 'needs write access' in await trouble(client, 'memory_store', content='The lamp is blue')
    finally:
        process.terminate()
    assert await process.wait() == 0


async def share(bower, folder):
    """What another process writes is found by the next call, and what this one writes by the other."""
    home = folder / 'shared'
    environment = {**os.environ, 'BOWER_HOME': str(home)}

    async def once(*arguments):
        process = await asyncio.create_subprocess_exec(
            bower, *arguments, env=environment, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        assert process.returncode == 0, arguments
        return out.decode()

    async with Client(server(bower, home)) as client:
        assert (await call(client, 'memory_search', query='quokka'))['results'] == []
        await once('curate', 'The quokka sleeps in the shed')
        found = await call(client, 'memory_search', query='quokka')
        assert len(found['results']) == 1, found
        await call(client, 'memory_store', content='The wombat sleeps in the cellar')
        assert 'wombat' in await once('query', 'wombat')
        await once('forget', found['results'][0]['id'])
        left = (await call(client, 'memory_search', query='quokka'))['results']
        assert all('quokka' not in one['text'] for one in left), left


async def bound(bower, folder):
    """A server that is bound stays within its bounds."""
    home = folder / 'bound'
    async with Client(server(bower, home)) as client:
        theirs = await call(client, 'memory_store', content='Bob waters at dawn', owner='bob')
    async with Client(server(bower, home, '--owner', 'ann', '--tools', 'core')) as client:
        assert len((await client.list_tools()).tools) == 5
        assert (await call(client, 'memory_search', query='who waters at dawn?'))['results'] == []
        assert 'no item' in await trouble(client, 'memory_get', id=theirs['id'])
        assert 'outside of' in await trouble(client, 'memory_list', owner='bob')


async def compat(bower, folder):
    """The tools of other memories."""
    home = folder / 'compat'
    async with Client(server(bower, home, '--compat', 'athena')) as client:
        await call(client, 'quicksave', summary='Moved the pump to the shed', bullets=['told Ines'])
        assert 'told Ines' in (await call(client, 'recall_session', lines=50))['content']
        found = await call(client, 'smart_search', query='where is the pump?', limit=5)
        assert {'id', 'content', 'source', 'rrf_score', 'signals'} <= set(found['results'][0]), found
        assert (await call(client, 'health_check'))['database']['status'] == 'PASS'
        assert (await call(client, 'list_memory_paths'))['active_count'] == 0
        log = await client.read_resource('athena://session/current')
        assert 'Moved the pump' in log.contents[0].text
    async with Client(server(bower, home, '--compat', 'ade')) as client:
        added = await call(client, 'memoryAdd', content='The build needs Rust 1.95', category='gotcha')
        assert (await call(client, 'memoryPin', id=added['id']))['pinned']
        assert (await call(client, 'memorySearch', query='Rust'))['memories'][0]['id'] == added['id']


async def main():
    bower = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for mode in MODES:
            place = folder / mode
            place.mkdir()
            print(f'PyPI mcp, mode {mode}: speaks {await live(bower, mode, place)}')
        await served(bower, folder)
        print('PyPI mcp: bower serve at /mcp, the same in each mode, each token within its bounds')
        await share(bower, folder)
        await bound(bower, folder)
        await compat(bower, folder)
        print('PyPI mcp: other processes, bounds, athena, ade')


asyncio.run(asyncio.wait_for(main(), 110))
