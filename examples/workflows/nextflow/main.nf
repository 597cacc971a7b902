#!/usr/bin/env nextflow

// Pairwise alignment in shards: for each FASTA file, a job per share of its pairs, and one that joins the shares into the
// same file, byte for byte, as a single run.

include { TROPALIGN_PAIRS } from './modules/tropalign/pairs/main'
include { TROPALIGN_MERGE } from './modules/tropalign/merge/main'

workflow ALIGN_IN_SHARDS {
    take:
    sequences // channel: [ val(meta), path(fasta) ]
    shards    // integer: number of jobs
    suffix    // string: names the format, such as tsv or paf.gz
    files     // list: additional outputs, html and plot

    main:
    share = channel.of(1..shards).map { number -> "${number}/${shards}" }
    job = sequences.combine(share).map { meta, fasta, part -> [meta, fasta, [], part] }
    TROPALIGN_PAIRS(job, suffix, files)
    TROPALIGN_MERGE(TROPALIGN_PAIRS.out.shard.groupTuple(size: shards), suffix, files)
    ch_versions = TROPALIGN_PAIRS.out.versions.first().mix(TROPALIGN_MERGE.out.versions.first())

    emit:
    merged   = TROPALIGN_MERGE.out.merged // channel: [ val(meta), path(table) ]
    html     = TROPALIGN_MERGE.out.html   // channel: [ val(meta), path(html) ]
    plot     = TROPALIGN_MERGE.out.plot   // channel: [ val(meta), path(svg) ]
    versions = ch_versions                // channel: path(versions.yml)
}

workflow {
    if (!params.input) {
        error("Name the sequences: --input 'data/*.fasta'")
    }
    sequences = channel.fromPath(params.input, checkIfExists: true).map { fasta -> [[id: fasta.simpleName], fasta] }
    files = params.report ? ['html'] : []
    ALIGN_IN_SHARDS(sequences, params.shards, params.suffix, files)
}
