"""The protocol: packages, what storing costs, certified optima, scores of stores.

It imports nothing else of ours and asks no model: a judge, a store, units of other conversations
come in as arguments. The only shipped file it can read is the example package. To read it in a day,
take this order:

    exact, errors         numbers that mean what a file says, and errors in one line
    package/package       the frozen problem: stream, candidates, units, queries, coverage
    package/provenance    what a cell rests on: judged, exact, declared or assumed
    package/response      h, how covering a unit more turns into value; package/objective: F(X)
    package/cost          what a text costs; words/ has the words of every script
    package/unit_parts    statements in parts: who, what, when
    package/digest        the name of a package; package/optimum: a value and its proof
    checker               checks a proof, in pure integers; trusts no solver
    solvers/solve         finds optima and proofs; solvers/form is what they all work on
    io/store_file         an exported store; io/packages, io/score_file: the other files
    losses                what a store can lose, one record per loss
    score/judge           what a judge is asked and says
    score/priced_store    a store with costs, and with what a judge said
    score/unions          packages with memories of stores; score/pruning: cutting to a budget
    score/package_scores  how a score is made, step by step, with the modules of score/ in order
    stats/                intervals over packages, paired tests, agreement
"""
