process TROPALIGN_SEARCH {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/tropalign:0.1.0'
        : 'biocontainers/tropalign:0.1.0'}"

    input:
    tuple val(meta), path(models), path(sequences), val(shard)
    val suffix
    val files

    output:
    tuple val(meta), path("*.${suffix}"), emit: hits, optional: true
    tuple val(meta), path("*.shard"), emit: shard, optional: true
    tuple val(meta), path("*.tblout"), emit: tblout, optional: true
    tuple val(meta), path("*.domtblout"), emit: domtblout, optional: true
    tuple val(meta), path("*.pfamtblout"), emit: pfamtblout, optional: true
    tuple val(meta), path("*.sto"), emit: alignment, optional: true
    tuple val(meta), path("*.html"), emit: html, optional: true
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    def output = shard ? "${prefix}.${shard.replace('/', '_of_')}.shard" : "${prefix}.${suffix}"
    // The option for each additional file, and the file's suffix.
    def options = [
        tblout: ['--tblout', 'tblout'],
        domtblout: ['--domtblout', 'domtblout'],
        pfamtblout: ['--pfamtblout', 'pfamtblout'],
        alignment: ['-A', 'sto'],
        html: ['--html', 'html'],
    ]
    def beside = files.collect { name -> "${options[name][0]} ${prefix}.${options[name][1]}" }.join(' ')
    // The suffix of a shard does not name its format.
    def format = suffix.tokenize('.')[0]
    def share = shard ? "--shard ${shard} --format ${format == 'txt' ? 'text' : format}" : ''
    """
    tropalign \\
        search \\
        ${args} \\
        ${share} \\
        --threads ${task.cpus} \\
        ${memory} \\
        ${beside} \\
        --output ${output} \\
        ${models} \\
        ${sequences}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        tropalign: \$(tropalign --version | sed 's/tropalign //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    def output = shard ? "${prefix}.${shard.replace('/', '_of_')}.shard" : "${prefix}.${suffix}"
    // The option for each additional file, and the file's suffix.
    def options = [
        tblout: ['--tblout', 'tblout'],
        domtblout: ['--domtblout', 'domtblout'],
        pfamtblout: ['--pfamtblout', 'pfamtblout'],
        alignment: ['-A', 'sto'],
        html: ['--html', 'html'],
    ]
    def stubs = (shard ? [] : files).collect { name -> "${prefix}.${options[name][1]}" }.join(' ')
    """
    touch ${output} ${stubs}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        tropalign: \$(tropalign --version | sed 's/tropalign //')
    END_VERSIONS
    """
}
